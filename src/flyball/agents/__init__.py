"""Coding agents as flyball drives them: any program, and the scripted one."""
