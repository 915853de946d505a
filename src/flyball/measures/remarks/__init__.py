"""Remarks: what a reviewer should look at in a change. They decide nothing."""
