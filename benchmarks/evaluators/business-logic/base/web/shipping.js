export const shipping = (euros) => (euros >= 100 ? 0 : 5);
