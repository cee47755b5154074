// The parts of a bar, one for each answer.

// Percent of the ink, the likeliest answer first. Letters can be read on all of them, in both themes;
// between 55 and 85 neither dark nor light ones could.
const SHADES = [100, 50, 38, 30, 23, 17, 13, 10];

const shadeOf = (rank) => SHADES[Math.min(Math.max(rank, 0), SHADES.length - 1)];
