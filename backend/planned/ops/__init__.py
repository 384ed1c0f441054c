"""One file per family of layers: their shapes, what rows they need, and the calls they become."""
