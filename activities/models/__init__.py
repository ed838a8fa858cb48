"""Model providers behind one port, the scripted model among them."""
