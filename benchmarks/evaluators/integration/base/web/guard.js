export function requireUser(request, response, next) {
  if (!request.headers.authorization) {
    response.sendStatus(401);
    return;
  }
  next();
}
