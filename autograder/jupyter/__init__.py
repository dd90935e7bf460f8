"""A kernel that runs every cell in the sandbox, and what JupyterLab is told."""
