--- Draws what is left of a suggestion at the cursor, as it will stand when accepted.
---
--- If nothing is right of it, or what is there stays behind it, the text is put in between; else it is painted over.
local M = {}

local GHOST, HINT = 'MidfillGhost', 'MidfillHint'

--- Define the highlights, unless a colour scheme or the user has.
function M.set_highlights()
  local has_own_kind = vim.fn.hlexists('ComplHint') == 1
  vim.api.nvim_set_hl(0, GHOST, { link = has_own_kind and 'ComplHint' or 'NonText', default = true })
  vim.api.nvim_set_hl(0, HINT, { link = has_own_kind and 'ComplHintMore' or 'MoreMsg', default = true })
end

--- Virtual text shows a tab as `^I`.
---@param text string
---@param bufnr integer
---@return string
local function expand_tabs(text, bufnr)
  return (text:gsub('\t', (' '):rep(vim.bo[bufnr].tabstop)))
end

---@param rest midfill.Rest
---@return string text What stands in the line afterwards, in the rows it takes.
---@return boolean is_over Whether what is right of the cursor must be painted over.
local function picture(rest)
  local behind = rest.tail:sub(#rest.absorbed + 1)
  if not rest.text:find('\n', 1, true) and vim.endswith(rest.text, rest.absorbed) then
    return rest.text:sub(1, #rest.text - #rest.absorbed), false
  end
  if rest.tail == '' then
    return rest.text, false
  end
  return rest.text .. behind, true
end

---@param bufnr integer
---@param namespace integer
---@param rest midfill.Rest
---@param hint? string
function M.draw(bufnr, namespace, rest, hint)
  local text, is_over = picture(rest)
  local lines = {} ---@type [string, string][][]
  for _, line in ipairs(vim.split(text, '\n', { plain = true })) do
    table.insert(lines, { { expand_tabs(line, bufnr), GHOST } })
  end
  if is_over then
    local missing = vim.fn.strdisplaywidth(rest.tail) - vim.fn.strdisplaywidth(lines[1][1][1])
    table.insert(lines[1], { (' '):rep(math.max(missing, 0)), GHOST })
  end
  if hint then
    table.insert(lines[#lines], { ' ' .. hint, HINT })
  end
  vim.api.nvim_buf_set_extmark(bufnr, namespace, rest.row, rest.col, {
    virt_text = lines[1],
    virt_lines = vim.list_slice(lines, 2),
    virt_text_pos = is_over and 'overlay' or 'inline',
    hl_mode = 'combine',
  })
end

return M
