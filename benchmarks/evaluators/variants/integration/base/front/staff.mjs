export const onlyStaff = (request, response, next) => (request.user ? next() : response.sendStatus(401));
