const words = 'the export of large reports fails with a timeout when a filter on more than three columns is set and the user has no cache'.split(' ');

export const list_tickets = () => ({
  tickets: Array.from({ length: 40 }, (_, number) => ({
    id: `OPS-${100 + number}`,
    title: `Ticket ${number}: ${words.slice(number % 9, (number % 9) + 6).join(' ')}`,
    description: Array.from({ length: 60 }, (_, word) => words[(number + word * 7) % words.length]).join(' '),
    state: 'open',
    assignee: `U${number % 12}`,
    due: `2026-${number % 10 < 3 ? '10' : '12'}-${10 + (number % 18)}`,
    labels: ['reports', number % 2 ? 'bug' : 'feature'],
    url: `https://tickets.example/OPS-${100 + number}`,
  })),
});
