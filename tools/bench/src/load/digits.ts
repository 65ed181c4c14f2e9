/** A number with leading zeros: names of one length, which sort as their numbers do. */
export function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
