import { mount } from 'svelte';
import '../src/app.css';
import { theme } from '../src/lib/theme.svelte';
import Gallery from './Gallery.svelte';

theme.apply();
const target = document.getElementById('app');
if (target) mount(Gallery, { target });
