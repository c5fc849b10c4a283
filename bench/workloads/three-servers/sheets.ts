export const append_row = ({ sheet }: { sheet: string }) => ({ ok: true, sheet, row: 2 });
