export function requireUser(request, response, next) {
  if (!request.session?.user) {
    response.status(401).end();
    return;
  }
  next();
}
