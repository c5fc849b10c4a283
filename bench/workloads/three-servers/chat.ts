export const list_users = () => ({
  users: Array.from({ length: 30 }, (_, number) => ({
    id: `U${number}`,
    name: `Person ${number}`,
    title: number % 3 ? 'Engineer' : 'Product manager',
    email: `person.${number}@example.com`,
    timezone: 'Europe/Berlin',
    isActive: true,
  })),
});

export const post_message = ({ to }: { to: string }) => ({ ok: true, to, message: `M-${to}`, at: '2026-11-15T10:00:00Z' });
