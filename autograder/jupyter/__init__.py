"""A kernel that runs every cell in the sandbox, and settings of JupyterLab."""
