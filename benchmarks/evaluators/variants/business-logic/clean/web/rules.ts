export const ADULT = 18;
export const SHORTEST_PASSWORD = 10;

export const RETURN_HOURS = 2;
