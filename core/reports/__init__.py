"""Reports: a result as one HTML file that needs nothing but itself, on screen and on paper."""
