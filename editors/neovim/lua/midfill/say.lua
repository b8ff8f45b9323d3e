--- Words for the user: one line that needs no key to be pressed.
local M = {}

local MARGIN = 12 -- Neovim asks for a key if a message comes near the end of the line, where showcmd stands

--- Kept in :messages; what is too wide for the screen, or more than a line, is shown only as far as it fits.
---@param text string
function M.quietly(text)
  local whole = 'midfill: ' .. text
  local line = vim.split(whole, '\n', { plain = true })[1]
  local width = math.max(vim.o.columns - MARGIN, 1)
  if line == whole and vim.fn.strdisplaywidth(line) <= width then
    vim.api.nvim_echo({ { line } }, true, {})
    return
  end
  vim.cmd('silent echomsg ' .. vim.fn.string(whole))
  vim.api.nvim_echo({ { vim.fn.strcharpart(line, 0, width - 1) .. '…' } }, false, {})
end

--- For what was asked and cannot be done.
---@param text string
function M.complain(text)
  vim.notify('midfill: ' .. text, vim.log.levels.WARN)
end

return M
