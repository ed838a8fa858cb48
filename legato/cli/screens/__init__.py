"""What people are shown: each function turns a result into something rich can print."""
