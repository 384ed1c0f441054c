"""Watching a process that can't be instrumented: does its memory drift once it is warm?"""
