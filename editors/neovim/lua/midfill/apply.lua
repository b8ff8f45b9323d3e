--- Puts a suggestion, or the first part of it, into the buffer.
local suggestions = require('midfill.suggestion')

local M = {}

--- What was typed stays when what comes now is undone. Setting the option ends the block of changes that one undo takes
--- back (see :help undo-blocks).
---@param bufnr integer
function M.break_undo(bufnr)
  vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels
end

--- Accept in the current window. The server is told when all of it has been accepted.
---@param client vim.lsp.Client
---@param bufnr integer
---@param rest midfill.Rest
---@param portion midfill.Portion
function M.accept(client, bufnr, rest, portion)
  local piece = suggestions.cut(rest.text, portion)
  local is_all = piece == rest.text
  local lines = vim.split(piece, '\n', { plain = true })
  local last_col = rest.col + (is_all and #rest.absorbed or 0)
  M.break_undo(bufnr)
  vim.api.nvim_buf_set_text(bufnr, rest.row, rest.col, rest.row, last_col, lines)
  local col = #lines[#lines] + (#lines == 1 and rest.col or 0)
  vim.api.nvim_win_set_cursor(0, { rest.row + #lines, col })
  if is_all and rest.command then
    client:exec_cmd(rest.command, { bufnr = bufnr })
  end
end

return M
