"""link-build-tree.py LINK TARGET: makes LINK a symbolic link to the folder TARGET."""
import os
import sys

link, target = map(os.path.normpath, sys.argv[1:])
os.makedirs(os.path.dirname(link), exist_ok=True)
if os.path.islink(link):
    os.unlink(link)
os.symlink(os.path.relpath(target, os.path.dirname(link)), link)
