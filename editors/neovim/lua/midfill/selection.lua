--- The part of the text that a command is for, in the server's units.
local M = {}

---@param row integer From 1.
---@return string
local function line_at(row)
  return vim.api.nvim_buf_get_lines(0, row - 1, row, false)[1] or ''
end

--- The lines of a command's range; if they are those of a selection by characters, only what was selected.
---@param args vim.api.keyset.create_user_command.command_args
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp.Range
function M.range(args, encoding)
  local first, last = line_at(args.line1), line_at(args.line2)
  local start_col, end_col = 0, #last
  local from, to = vim.api.nvim_buf_get_mark(0, '<'), vim.api.nvim_buf_get_mark(0, '>')
  local is_selected = args.range == 2 and from[1] == args.line1 and to[1] == args.line2
  if is_selected and vim.fn.visualmode() == 'v' then
    start_col = math.min(from[2], #first)
    if to[2] < #last then
      end_col = to[2] + 1 + vim.str_utf_end(last, to[2] + 1)
    end
  end
  return {
    start = { line = args.line1 - 1, character = vim.str_utfindex(first, encoding, start_col, false) },
    ['end'] = { line = args.line2 - 1, character = vim.str_utfindex(last, encoding, end_col, false) },
  }
end

return M
