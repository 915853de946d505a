"""Items that are worked on side by side, for every workflow that has them.

    choosing      which are ready, and which of them may run beside each other
    executing     a batch is begun and waits for its lanes
    lanes         one subtask in a workspace of its own
    integrating   finished work on a candidate tip, piece by piece, gated and reviewed
    monitoring    the health of the whole, and the remedy
    settling      the branch advances, the rest goes back

A workflow brings `BatchRules`: its stages, roles and prompts.
"""
