"""A simulation of predators and prey, written with NumPy alone. It knows nothing of gradients."""

import numpy as np


def rates(state, growth, hunting, conversion, death):
    """Return how fast the numbers of prey and predators change, by the equations of Lotka and Volterra."""
    prey, predators = state
    return np.stack(
        [
            growth * prey - hunting * prey * predators,
            conversion * prey * predators - death * predators,
        ]
    )


def simulate(coefficients, start, times):
    """Return the numbers of prey and predators at ``times``, of shape (len(times), 2), by Runge and Kutta's method."""
    state = np.stack([start[0], start[1]])
    course = [state]
    for step in np.diff(times):
        first = rates(state, *coefficients)
        second = rates(state + step / 2 * first, *coefficients)
        third = rates(state + step / 2 * second, *coefficients)
        fourth = rates(state + step * third, *coefficients)
        state = state + step / 6 * (first + 2 * second + 2 * third + fourth)
        course.append(state)
    return np.stack(course)
