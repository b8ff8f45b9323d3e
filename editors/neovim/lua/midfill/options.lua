--- What a user can set: types, defaults and validation in one place.
---
--- A bad value is named, its default kept and everything else taken. What the model and the server do is set under
--- `settings` and checked by the server, not here.
local M = {}

---@class midfill.Keymaps A key of insert mode for each, or false for none.
---@field accept string|false
---@field accept_word string|false
---@field accept_line string|false
---@field next string|false
---@field prev string|false
---@field dismiss string|false

---@alias midfill.GhostName 'auto'|'builtin'|'own'

---@class midfill.Options
---@field cmd string|string[]|nil The program, or the whole command. Never looked for elsewhere if set.
---@field workspace_venv boolean Whether the workspace's own `.venv` may be run: code that came with the workspace.
---@field filetypes string[] Where the server is started.
---@field ghost midfill.GhostName `builtin`: vim.lsp.inline_completion of 0.12; `own`: ours; `auto`: `builtin` if there.
---@field keymaps midfill.Keymaps|boolean `true`: the keys of `default_keymaps`; `false`: none.
---@field settings table<string, any> The server's settings, such as `preset`, `maxTokens`, `mode`.

---@type midfill.Keymaps
M.default_keymaps = {
  accept = '<Tab>',
  accept_word = '<C-Right>',
  accept_line = '<M-Right>',
  next = '<M-n>',
  prev = '<M-p>',
  dismiss = '<C-]>',
}

---@type midfill.Options
M.defaults = {
  cmd = nil,
  workspace_venv = false,
  filetypes = { 'python' },
  ghost = 'auto',
  keymaps = false,
  settings = {},
}

---@type midfill.Options
M.current = vim.deepcopy(M.defaults)

---@param value any
---@return boolean
local function is_texts(value)
  return vim.islist(value)
    and #value > 0
    and vim.iter(value):all(function(item)
      return type(item) == 'string' and item ~= ''
    end)
end

---@param value any
---@return boolean
local function is_keymaps(value)
  if type(value) ~= 'table' then
    return type(value) == 'boolean'
  end
  return vim.iter(pairs(value)):all(function(name, key)
    return M.default_keymaps[name] ~= nil and (key == false or type(key) == 'string')
  end)
end

---@class midfill.Rule
---@field [1] fun(value: any): boolean
---@field [2] string What the value must be.

---@type table<string, midfill.Rule>
local rules = {
  cmd = {
    function(value)
      return is_texts(value) or type(value) == 'string' and value ~= ''
    end,
    'a program or a list of texts',
  },
  workspace_venv = {
    function(value)
      return type(value) == 'boolean'
    end,
    'true or false',
  },
  filetypes = { is_texts, 'a list of file types' },
  ghost = {
    function(value)
      return vim.list_contains({ 'auto', 'builtin', 'own' }, value)
    end,
    "'auto', 'builtin' or 'own'",
  },
  keymaps = { is_keymaps, 'true, false or a table of ' .. table.concat(vim.tbl_keys(M.default_keymaps), ', ') },
  settings = {
    function(value)
      return type(value) == 'table' and (vim.tbl_isempty(value) or not vim.islist(value))
    end,
    'a table',
  },
}

---@param given table<string, any>
---@return table<string, any> good What can be used.
---@return string[] complaints One for each key that cannot.
function M.check(given)
  local good, complaints = {}, {}
  for key, value in pairs(given) do
    local rule = rules[key]
    if not rule then
      table.insert(complaints, ('option %s is unknown'):format(key))
    elseif not rule[1](value) then
      table.insert(complaints, ('option %s must be %s, not %s'):format(key, rule[2], vim.inspect(value)))
    else
      good[key] = value
    end
  end
  table.sort(complaints)
  return good, complaints
end

--- Take what the user says; what they do not say is as in `defaults`.
---@param given? table<string, any>
---@return string[] complaints
function M.set(given)
  local good, complaints = M.check(given or {})
  local current = vim.tbl_extend('force', vim.deepcopy(M.defaults), good) ---@type midfill.Options
  M.current = current
  return complaints
end

--- The keys to map.
---@return table<string, string|false>
function M.keymaps()
  local keymaps = M.current.keymaps
  if keymaps == true then
    return M.default_keymaps
  end
  return type(keymaps) == 'table' and keymaps or {}
end

return M
