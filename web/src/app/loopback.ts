/** Whether a host's name is one that each machine has for itself. */
export function isLoopback(name: string): boolean {
  return name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name) || /^(.+\.)?localhost$/.test(name);
}
