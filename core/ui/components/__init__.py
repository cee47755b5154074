"""What the browser draws by itself: components of our own, with no build step."""
