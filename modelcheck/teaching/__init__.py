"""The course and the textbook: exercises graded, sentences judged, protocols compared."""
