"""PAST ONE MACHINE: the same learners on engines that others have built."""
