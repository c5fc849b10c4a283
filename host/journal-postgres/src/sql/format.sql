--
SELECT format, oldest_program FROM {s}.format
