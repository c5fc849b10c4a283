import { crm } from '@capabilities/company-crm';

// Search doesn't need approval
const customers = await crm.searchCustomers({ 
  query: 'acme corp' 
});

// This will pause for approval
const ticket = await crm.createTicket({
  customerId: customers[0].id,
  subject: 'Integration issue',
  priority: 'high',
});

console.log(`Created ticket: ${ticket.id}`);
