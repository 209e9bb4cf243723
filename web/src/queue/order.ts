/** The list with one entry at another place. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const left = list.filter((_, at) => at !== from);
  const one = list[from];
  return one === undefined ? left : [...left.slice(0, to), one, ...left.slice(to)];
}
