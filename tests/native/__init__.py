"""The engine without Python, on the processors that can be run or emulated here."""
