-- Wires midfill up when Neovim starts; the rest is loaded when it is first needed.
if vim.g.loaded_midfill then
  return
end
vim.g.loaded_midfill = true

if vim.fn.has('nvim-0.11') == 0 then
  vim.notify('midfill needs Neovim 0.11 or newer', vim.log.levels.ERROR)
  return
end

local group = vim.api.nvim_create_augroup('midfill', {})

---@param event string
---@param callback fun(args: table, client?: vim.lsp.Client)
local function on_lsp(event, callback)
  vim.api.nvim_create_autocmd(event, {
    group = group,
    callback = function(args)
      local client = vim.lsp.get_client_by_id(args.data.client_id)
      if client and client.name == 'midfill' then
        callback(args, client)
      end
    end,
  })
end

on_lsp('LspAttach', function(args, client)
  require('midfill.ghost.drawing').set_highlights()
  require('midfill.ghost').attach(client, args.buf)
  if args.buf == vim.api.nvim_get_current_buf() then
    require('midfill.client').tell_focus(args.buf)
  end
end)

on_lsp('LspDetach', function(args, client)
  require('midfill.ghost').detach(args.buf, client)
  if vim.tbl_count(client.attached_buffers) <= 1 then
    require('midfill.status').forget(client.id)
  end
end)

vim.api.nvim_create_autocmd('BufEnter', {
  group = group,
  callback = function(args)
    if package.loaded['midfill.client'] then
      require('midfill.client').tell_focus(args.buf)
    end
  end,
})

vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'BufLeave' }, {
  group = group,
  callback = function(args)
    if package.loaded['midfill.drafts'] then
      require('midfill.drafts').clear(args.buf)
    end
  end,
})

vim.api.nvim_create_autocmd('ColorScheme', {
  group = group,
  callback = function()
    require('midfill.ghost.drawing').set_highlights()
  end,
})

vim.api.nvim_create_user_command('Midfill', function(args)
  require('midfill.commands').run(args)
end, {
  nargs = '*',
  range = true,
  desc = 'midfill: see :help :Midfill',
  complete = function(lead, line)
    return require('midfill.commands').complete(lead, line)
  end,
})
