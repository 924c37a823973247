"""The course: exercises, and how what students hand in is graded."""
