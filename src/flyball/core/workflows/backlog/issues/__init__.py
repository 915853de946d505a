"""Issue files as people write them: read leniently, edited by the smallest change."""
