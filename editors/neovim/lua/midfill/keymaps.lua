--- Maps keys that do what they always did while nothing is shown.
---
--- Whether something is shown is asked when the key is carried out. A mapping with `expr` would be too early: when keys
--- come fast, it is evaluated while the key before it is not in the text yet.
local M = {}

local ABOUT = {
  accept = 'midfill: accept',
  accept_word = 'midfill: accept the next word',
  accept_line = 'midfill: accept the next line',
  next = 'midfill: next suggestion',
  prev = 'midfill: previous suggestion',
  dismiss = 'midfill: take the suggestion away',
}

--- Have keys typed before those that are waiting already.
---@param keys string
---@param is_remapped boolean
---@param has_codes boolean Whether `<Tab>` in it means the key.
local function feed(keys, is_remapped, has_codes)
  local raw = has_codes and vim.api.nvim_replace_termcodes(keys, true, true, true) or keys
  vim.api.nvim_feedkeys(raw, is_remapped and 'im' or 'in', false)
end

--- What the key did before.
---@param key string
---@param before table<string, any> What maparg() told of it.
---@return fun()
local function fallback_of(key, before)
  local callback, rhs = before.callback, before.rhs ---@type function?, string?
  local is_remapped = before.noremap == 0
  if before.expr == 1 then
    return function()
      local keys = callback and callback() or rhs and vim.api.nvim_eval(rhs)
      feed(keys or '', is_remapped, before.replace_keycodes == 1 or not callback)
    end
  elseif callback then
    return callback
  end
  return function()
    feed(rhs or key, is_remapped and rhs ~= nil and not rhs:find(key, 1, true), true)
  end
end

---@param name string
---@param key string
local function set(name, key)
  local before = vim.fn.maparg(key, 'i', false, true) --[[@as table<string, any>]]
  if before.desc == ABOUT[name] then
    return -- by an earlier setup()
  end
  local fallback = fallback_of(key, before)
  vim.keymap.set('i', key, function()
    local midfill = require('midfill')
    if not midfill.is_shown() or midfill[name]() == false then
      fallback()
    end
  end, { desc = ABOUT[name] })
end

---@param keys table<string, string|false>
function M.set(keys)
  for name, key in pairs(keys) do
    if key then
      set(name, key)
    end
  end
end

return M
