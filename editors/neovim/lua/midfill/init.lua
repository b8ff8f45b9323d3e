--- midfill: fills the middle of code with a local text-diffusion model. See :help midfill.
local client = require('midfill.client')
local ghost = require('midfill.ghost')
local options = require('midfill.options')
local request = require('midfill.request')
local status = require('midfill.status')

local M = {}

---@return integer
local function here()
  return vim.api.nvim_get_current_buf()
end

--- Start midfill wherever it is wanted. Neovim's own `vim.lsp.config('midfill', ...)` is taken as well.
---@param given? midfill.Options
function M.setup(given)
  for _, complaint in ipairs(options.set(given)) do
    vim.notify('midfill: ' .. complaint, vim.log.levels.WARN)
  end
  require('midfill.keymaps').set(options.keymaps())
  vim.lsp.config(client.NAME, {}) -- what was read of lsp/midfill.lua before is read again
  vim.lsp.enable(client.NAME)
end

--- Accept the ghost text. For use in mappings of insert mode, but not in those with `expr`.
---@return boolean has_accepted
function M.accept()
  return ghost.accept(here(), 'all')
end

--- Accept its next word; the rest stays.
---@return boolean has_accepted
function M.accept_word()
  return ghost.accept(here(), 'word')
end

--- Accept its next line; the rest stays.
---@return boolean has_accepted
function M.accept_line()
  return ghost.accept(here(), 'line')
end

--- Show the next suggestion; the server is asked for more if there is only one.
function M.next()
  ghost.select(here(), vim.v.count1)
end

--- Show the suggestion before.
function M.prev()
  ghost.select(here(), -vim.v.count1)
end

--- Take the ghost text away.
---@return boolean has_dismissed
function M.dismiss()
  return ghost.dismiss(here())
end

--- Whether ghost text is shown at the cursor.
---@return boolean
function M.is_shown()
  return ghost.is_shown(here())
end

--- Suggest something here and now, also where nothing is suggested by itself.
function M.fill()
  if vim.api.nvim_get_mode().mode:sub(1, 1) == 'i' then
    ghost.ask(here())
    return
  end
  vim.api.nvim_create_autocmd('InsertEnter', {
    buffer = here(),
    once = true,
    callback = vim.schedule_wrap(function()
      ghost.ask(here())
    end),
  })
  local is_at_end = vim.fn.col('.') >= vim.fn.col('$') - 1
  vim.cmd.startinsert({ bang = is_at_end })
end

--- Suggest nothing any more, or again.
---@return boolean is_on
function M.toggle()
  ghost.set_on(not ghost.is_on())
  vim.cmd.redrawstatus({ bang = true })
  return ghost.is_on()
end

--- For a status line: `%{v:lua.require'midfill'.statusline()}`.
---@return string
function M.statusline()
  local serving = client.of(here())
  return status.line(serving, {
    is_on = ghost.is_on(),
    model = serving and client.model(serving) or '',
    latency_ms = serving and request.latency(serving),
  })
end

return M
