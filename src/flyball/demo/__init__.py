"""The demo's data: a sample project, and for each workflow the script its agent plays."""
