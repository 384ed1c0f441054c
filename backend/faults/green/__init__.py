"""Backends that look suspicious and are right: a finding here is a false alarm."""
