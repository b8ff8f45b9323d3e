--- Choosing a model.
local client_of = require('midfill.client')
local say = require('midfill.say')

local M = {}

--- Use a model until Neovim ends.
---@param client vim.lsp.Client
---@param name string
function M.use(client, name)
  client_of.configure(client, { preset = name })
  say.quietly('model ' .. name)
end

---@param model { name: string, description: string, size: string, licence: string, fit: string, isCurrent: boolean }
---@return string
local function in_one_line(model)
  local mark = model.isCurrent and '* ' or '  '
  local told = vim.iter({ model.name, model.size, model.licence, model.fit }):filter(function(text)
    return type(text) == 'string' and text ~= ''
  end)
  return mark .. told:join(' · ')
end

--- Have the user choose among those that the server lists.
---@param client vim.lsp.Client
---@param models any
function M.choose(client, models)
  vim.ui.select(type(models) == 'table' and models or {}, { prompt = 'Model', format_item = in_one_line }, function(model)
    if model then
      M.use(client, model.name)
    end
  end)
end

return M
