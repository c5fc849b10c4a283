import { tickets } from '@capabilities/mcp-tickets';
import { chat } from '@capabilities/mcp-chat';
import { sheets } from '@capabilities/mcp-sheets';

const { tickets: open } = await tickets.listTickets({ project: 'OPS', state: 'open' });
const { users } = await chat.listUsers();
const names = new Map(users.map((user) => [user.id, user.name]));
const overdue = open.filter((ticket) => ticket.due < '2026-11-15');
for (const ticket of overdue) {
  await chat.postMessage({ to: ticket.assignee, text: `${ticket.id} was due on ${ticket.due}: ${ticket.title}` });
  await sheets.appendRow({ sheet: 'overdue', cells: [ticket.id, names.get(ticket.assignee), ticket.due] });
}
export default overdue.map((ticket) => ticket.id).join(', ');
