"""Pages as HTML: templates, the style sheet and the one script, and what fills them; values in, text out."""
