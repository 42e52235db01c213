"""The operations behind the layers: forward functions, and their backward functions beside them.

Layers hold parameters and check what they are given; what they compute is here, as functions of Tensors. A backward
function of a linear operation calls another operation of this package, so that it can be differentiated in turn.
"""
