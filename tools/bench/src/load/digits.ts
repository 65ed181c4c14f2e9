/** A number with leading zeros, for names of one length that sort like their numbers. */
export function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
