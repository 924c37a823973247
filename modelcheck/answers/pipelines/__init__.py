"""What was found, in the formats of pipelines: JUnit XML for what shows tests, SARIF for what shows code."""
