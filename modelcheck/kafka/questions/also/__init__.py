"""Further questions of a review, on request, asked of models that extend that of one partition."""
