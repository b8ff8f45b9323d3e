--- Shows the text of a fill on demand while it develops, in front of the place it is for; the buffer is not touched.
local M = {}

M.METHOD = 'midfill/draft'
M.namespace = vim.api.nvim_create_namespace('midfill.drafts')

local HIGHLIGHTS = { MidfillDraftLocked = 'String', MidfillDraftOpen = 'NonText' }

---@type table<string, { bufnr: integer, mark: integer }> By client and token.
local drawn = {}

---@param key string
local function remove(key)
  local at = drawn[key]
  drawn[key] = nil
  if at and vim.api.nvim_buf_is_valid(at.bufnr) then
    vim.api.nvim_buf_del_extmark(at.bufnr, M.namespace, at.mark)
  end
end

---@param tokens { text: string, isLocked: boolean }[]
---@return [string, string][][]
local function picture(tokens)
  local lines = { {} } ---@type [string, string][][]
  for _, token in ipairs(tokens) do
    local group = token.isLocked and 'MidfillDraftLocked' or 'MidfillDraftOpen'
    for index, part in ipairs(vim.split(token.text, '\n', { plain = true })) do
      if index > 1 then
        table.insert(lines, {})
      end
      table.insert(lines[#lines], { (part:gsub('\t', '    ')), group })
    end
  end
  return lines
end

--- The handler of the server's notification. A draft of a text that is gone is not shown.
function M.on_draft(_, params, context)
  local key = context.client_id .. '/' .. params.token
  local bufnr = vim.uri_to_bufnr(params.textDocument.uri)
  local version = params.textDocument.version
  local is_stale = type(version) == 'number' and version ~= vim.lsp.util.buf_versions[bufnr]
  local row = params.range.start.line
  if params.isDone or is_stale or not vim.api.nvim_buf_is_loaded(bufnr) or row >= vim.api.nvim_buf_line_count(bufnr) then
    return remove(key)
  end
  for name, link in pairs(HIGHLIGHTS) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
  local old = drawn[key]
  local mark = vim.api.nvim_buf_set_extmark(bufnr, M.namespace, row, 0, {
    id = old and old.bufnr == bufnr and old.mark or nil,
    virt_lines = picture(params.tokens),
    virt_lines_above = row > 0, -- above the first line nothing is visible
  })
  drawn[key] = { bufnr = bufnr, mark = mark }
end

--- Take away what is drawn in a buffer: its text is another, or it is left.
---@param bufnr integer
function M.clear(bufnr)
  for key, at in pairs(drawn) do
    if at.bufnr == bufnr then
      remove(key)
    end
  end
end

return M
