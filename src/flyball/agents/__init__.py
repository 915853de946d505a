"""Coding agents as flyball drives them: their own programs, any other program, and the scripted one."""
