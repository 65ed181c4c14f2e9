/** Who may write a file besides its owner, by its mode. */
export type Writers = 'anyone' | 'group' | undefined;

/** @param mode of the file, with or without its type */
export function writersOf(mode: number): Writers {
  if ((mode & 0o002) !== 0) return 'anyone';
  return (mode & 0o020) !== 0 ? 'group' : undefined;
}

/** What is wrong with a program, or a file that names programs, that anyone may write. */
export function writableByAnyone(path: string, mode: number): string {
  return `anyone may write it (mode ${octal(mode)}), and so make us run any program: use chmod o-w ${path}`;
}

/** Permissions as for chmod. */
export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}
