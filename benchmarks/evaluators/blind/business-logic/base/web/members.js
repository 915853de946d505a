export const mayBorrow = (loans) => loans >= 0 && loans < 5;
