"""Stage 4: one caption a clip and system, by the system's harness."""
