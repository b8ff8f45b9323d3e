--- :checkhealth midfill. Every complaint names what to do about it.
local client_of = require('midfill.client')
local ghost = require('midfill.ghost')
local options = require('midfill.options')
local program = require('midfill.program')
local status = require('midfill.status')

local M = {}

local PATIENCE_MS = 10000

local INSTALL = {
  "Install midfill as its README tells and put its program's folder into PATH before Neovim is started",
  "or say where it is: require('midfill').setup({ cmd = '/path/to/.venv/bin/midfill' })",
}

local function check_neovim()
  vim.health.start('Neovim')
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.11') == 0 then
    vim.health.error(version .. ' is too old', { 'Install Neovim 0.11 or newer' })
  elseif ghost.variant_name() == 'builtin' then
    vim.health.ok(version .. ': ghost text through vim.lsp.inline_completion')
  else
    vim.health.ok(version .. ': ghost text of our own')
  end
  if options.current.ghost == 'builtin' and not vim.lsp.inline_completion then
    vim.health.warn("option ghost is 'builtin', which this Neovim has not", { "Say ghost = 'auto'" })
  end
end

local function check_program()
  vim.health.start('Server')
  local root = client_of.root(vim.api.nvim_get_current_buf())
  local found = program.find(root)
  if not found.cmd then
    vim.health.error(found.from, INSTALL)
  else
    local result = vim.system({ found.cmd[1], '--version' }, { text = true }):wait(PATIENCE_MS)
    local said = vim.trim(result.stdout or '')
    if result.code == 0 and vim.startswith(said, 'midfill ') then
      vim.health.ok(('%s: %s, from %s'):format(said, found.cmd[1], found.from))
    elseif options.current.cmd then
      vim.health.info(('%s, from %s'):format(table.concat(found.cmd, ' '), found.from))
    else
      vim.health.error(found.cmd[1] .. ' does not run', { 'Run it in a shell to see why, or install it again' })
    end
  end
  if root and not options.current.workspace_venv and vim.fn.executable(program.in_workspace(root)) == 1 then
    vim.health.info(
      'This workspace has a midfill of its own. It is not run, being code that came with the workspace; '
        .. 'workspace_venv = true allows it.'
    )
  end
end

---@param client vim.lsp.Client
local function check_client(client)
  local said = status.of(client)
  local buffers = vim.tbl_count(client.attached_buffers)
  if said.kind == 'Error' or said.kind == 'Warning' then
    local advice = { 'Read :Midfill log', 'then :Midfill restart' }
    vim.health.error(('server %d: %s'):format(client.id, said.message), advice)
  else
    local what = said.message ~= '' and said.message or 'ready'
    vim.health.ok(('server %d: %s, %d buffers, %s'):format(client.id, what, buffers, client.offset_encoding))
  end
  if client.server_capabilities.inlineCompletionProvider == nil then
    vim.health.error('it gives no ghost text', { 'Install the newest midfill' })
  end
end

local function check_clients()
  if not vim.lsp.is_enabled(client_of.NAME) then
    vim.health.error('midfill is not enabled', { "Call require('midfill').setup() in your init.lua" })
    return
  end
  local clients = vim.lsp.get_clients({ name = client_of.NAME })
  if #clients == 0 then
    local filetypes = table.concat(vim.lsp.config[client_of.NAME].filetypes or { 'any' }, ', ')
    vim.health.info('No server is running: one is started with the first buffer of type ' .. filetypes)
  end
  for _, client in ipairs(clients) do
    check_client(client)
  end
  if not ghost.is_on() then
    vim.health.warn('Switched off', { ':Midfill toggle' })
  end
end

local function check_keys()
  vim.health.start('Keys')
  local mapped = vim.iter(vim.api.nvim_get_keymap('i')):filter(function(map)
    return vim.startswith(map.desc or '', 'midfill: ')
  end)
  local lines = mapped:map(function(map)
    return ('%s %s'):format(map.lhs, map.desc:sub(#'midfill: ' + 1))
  end):totable()
  table.sort(lines)
  if #lines > 0 then
    vim.health.ok(table.concat(lines, '; '))
  else
    vim.health.info('None are mapped by midfill: say keymaps = true in setup(), or map your own (:help midfill-keys)')
  end
end

function M.check()
  check_neovim()
  check_program()
  check_clients()
  check_keys()
end

return M
